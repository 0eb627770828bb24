"""What is known of each covariate of a model, by how it was released."""
