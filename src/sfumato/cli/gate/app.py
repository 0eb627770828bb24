"""The commands of `sfumato gate`."""

from __future__ import annotations

import typer

from sfumato.cli.gate import (
    analyse,
    ask,
    budget,
    dataset,
    decide,
    dependences,
    group,
    init,
    join,
    keeping,
    leave,
    ledger,
    maximal,
    organisation,
    policy,
    queue,
    recover,
    replay,
    secret,
    share,
    simulate,
    token,
    user,
    work,
)

__all__ = ["app"]

app = typer.Typer(
    name="gate",
    help="What may be told to whom: decisions that rest on proofs, remembered in a ledger.",
    epilog="Example: sfumato gate decide ward.csv --known age,sex --ask age,hiv --interval 4:10",
    no_args_is_help=True,
    rich_markup_mode=None,
)


def _group(name: str, help_: str, example: str) -> typer.Typer:
    out = typer.Typer(name=name, help=help_, epilog=example, no_args_is_help=True, rich_markup_mode=None)
    app.add_typer(out)
    return out


app.command(epilog=decide.EXAMPLE)(decide.decide)
app.command(epilog=dependences.EXAMPLE)(dependences.dependences)
app.command(epilog=replay.EXAMPLE)(replay.replay)
app.command(epilog=maximal.EXAMPLE)(maximal.maximal)
app.command(epilog=simulate.EXAMPLE)(simulate.simulate)
app.command(epilog=secret.EXAMPLE)(secret.secret)
app.command(epilog=init.EXAMPLE)(init.init)
app.command(epilog=ask.EXAMPLE)(ask.ask)
app.command(epilog=analyse.EXAMPLE)(analyse.analyse)
app.command(epilog=budget.EXAMPLE)(budget.budget)
app.command(epilog=join.EXAMPLE)(join.join)
app.command(epilog=leave.EXAMPLE)(leave.leave)
app.command(epilog=share.EXAMPLE)(share.share)
app.command(epilog=work.EXAMPLE)(work.work)
app.command(epilog=recover.EXAMPLE)(recover.recover)
app.command(epilog=token.EXAMPLE)(token.token)
app.command(epilog=keeping.BACKUP)(keeping.backup)
app.command(epilog=keeping.RESTORE)(keeping.restore)
app.command(epilog=keeping.REPAIR)(keeping.repair)

_users = _group("user", "People who may ask, and those who keep the gate.", user.ADD)
_users.command("add", epilog=user.ADD)(user.add)
_users.command("password", epilog=user.PASSWORD)(user.password)
_users.command("remove", epilog=user.REMOVE)(user.remove)
_organisations = _group("organisation", "Organisations, whose members share all that they know.", organisation.EXAMPLE)
_organisations.command("add", epilog=organisation.EXAMPLE)(organisation.add)
_groups = _group("group", "Groups of people of several organisations.", group.EXAMPLE)
_groups.command("add", epilog=group.EXAMPLE)(group.add)
_policies = _group("policy", "The criteria that are in force.", policy.SET)
_policies.command("list", epilog=policy.LIST)(policy.list_)
_policies.command("set", epilog=policy.SET)(policy.set_)
_datasets = _group("dataset", "Data sets and their versions.", dataset.LIST)
_datasets.command("list", epilog=dataset.LIST)(dataset.list_)
_datasets.command("add", epilog=dataset.ADD)(dataset.add)
_queue = _group("queue", "Requests that nothing was proved of, and exceptions.", queue.LIST)
_queue.command("list", epilog=queue.LIST)(queue.list_)
_queue.command("refuse", epilog=queue.REFUSE)(queue.refuse)
_queue.command("propose", epilog=queue.PROPOSE)(queue.propose)
_queue.command("confirm", epilog=queue.CONFIRM)(queue.confirm)
_ledger = _group("ledger", "What was given to whom, and whether it is as it was written.", ledger.VERIFY)
_ledger.command("export", epilog=ledger.EXPORT)(ledger.export)
_ledger.command("verify", epilog=ledger.VERIFY)(ledger.verify)
_ledger.command("head", epilog=ledger.HEAD)(ledger.head)
_log = _group("log", "The file beside the store, by which one shows that was set back.", keeping.START)
_log.command("start", epilog=keeping.START)(keeping.start)
