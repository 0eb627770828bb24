"""The audit: what an attacker works out of tables as they are handed out.

It looks at codes, values, statuses and hierarchies, and at nothing that protected them. `against`, a judged table, says
what had to be protected, and how far.
"""

from sfumato.tables.audit.attack import Audit, audit

__all__ = ["Audit", "audit"]
