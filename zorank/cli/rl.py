"""zorank rl: train a policy from ranked episodes, and replay it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeRemainingColumn
from rich.progress import Progress as ProgressBar
from rich.text import Text
from typer.core import TyperGroup

from zorank import optimizers
from zorank.cli.common import allow_environment, log, out, read_values
from zorank.errors import InvalidInput, ZorankError

if TYPE_CHECKING:
    from zorank.rl import LearnedPolicy, PolicySearch


class _DefaultToTrain(TyperGroup):
    """`zorank rl ENV ...` means `zorank rl train ENV ...`."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Put the command first: the first word that is not an option, or else `train`."""
        position = self._first_word(args)
        if position is None or args[position] not in self.commands:
            return super().parse_args(ctx, ["train", *args])
        command = args[position]
        return super().parse_args(ctx, [command, *args[:position], *args[position + 1 :]])

    def _first_word(self, args: Sequence[str]) -> int | None:
        """Return the position of the first argument that is neither an option nor its value."""
        options = [one for command in self.commands.values() for one in command.params]
        with_value = {
            name for one in options if not getattr(one, "is_flag", True) for name in one.opts
        }
        is_value = False
        for position, word in enumerate(args):
            if not is_value and not word.startswith("-"):
                return position
            is_value = not is_value and word in with_value
        return None


app = typer.Typer(cls=_DefaultToTrain, help="Train a policy from ranked episodes, or replay it.")

Env = Annotated[
    str,
    typer.Argument(
        help="The id of a Gymnasium environment, such as Swimmer-v4; module:Name imports your "
        "own module."
    ),
]
Method = Annotated[
    str | None,
    typer.Option(
        help=f"One of: {', '.join(optimizers.REGISTRY)}. Default: the best one known for ENV."
    ),
]
Rounds = Annotated[
    int | None,
    typer.Option(
        min=1, help="The number of rounds. Default: as many as take the steps of 500 episodes."
    ),
]
SlateSize = Annotated[int | None, typer.Option("--m", help="The episodes of a round.")]
Ranked = Annotated[int | None, typer.Option("--k", help="How many of them are ranked.")]
MethodOption = Annotated[
    list[str] | None,
    typer.Option(help="A setting of the method, name=value; may be given several times."),
]
Seed = Annotated[int, typer.Option(help="The same seed gives the same run.")]
HiddenLayers = Annotated[
    list[int] | None,
    typer.Option(
        min=1,
        help="The width of a hidden layer; may be given several times. Default: a linear policy.",
    ),
]
Bias = Annotated[bool, typer.Option("--bias", help="Add a constant in each layer.")]
Raw = Annotated[bool, typer.Option("--raw", help="Do not normalise observations.")]
Unclipped = Annotated[
    bool,
    typer.Option(
        "--unclipped",
        help="Do not clip actions to their bounds. MuJoCo's environments charge the control "
        "cost of the whole action.",
    ),
]
Independent = Annotated[
    bool,
    typer.Option("--independent", help="Start each episode of a round from a reset of its own."),
]
Steps = Annotated[
    int | None,
    typer.Option(min=1, help="The steps of an episode. Default: the environment's limit."),
]
RankedSteps = Annotated[
    int | None,
    typer.Option(
        min=0,
        help="How many steps are simulated to rank an episode; 0 is all. Default: the number "
        "known to suffice for ENV. The reward is always that of whole episodes.",
    ),
]
Paper = Annotated[
    bool,
    typer.Option(
        "--paper",
        help="The paper's settings: ZO-RankSGD, 5 episodes a round, and --bias, --raw, "
        "--unclipped and --independent.",
    ),
]
NoValues = Annotated[
    bool,
    typer.Option(
        "--no-values",
        help="Keep and show no rewards: OUT gets candidates, rankings and the policy only.",
    ),
]
ResultFolder = Annotated[
    Path | None, typer.Option("--out", help="The folder for the results. Default: policy-ENV.")
]
Seconds = Annotated[float, typer.Option(min=0.2, max=600, help="The length of the clip.")]
NoVideo = Annotated[bool, typer.Option("--no-video", help="Do not film a clip.")]
Quiet = Annotated[bool, typer.Option("--quiet", help="Do not show a progress bar.")]


@app.command()
def train(
    env: Env,
    method: Method = None,
    rounds: Rounds = None,
    m: SlateSize = None,
    k: Ranked = None,
    option: MethodOption = None,
    seed: Seed = 0,
    hidden: HiddenLayers = None,
    bias: Bias = False,
    raw: Raw = False,
    unclipped: Unclipped = False,
    independent: Independent = False,
    steps: Steps = None,
    ranked_steps: RankedSteps = None,
    paper: Paper = False,
    no_values: NoValues = False,
    save: ResultFolder = None,
    seconds: Seconds = 10.0,
    no_video: NoVideo = False,
    quiet: Quiet = False,
) -> None:
    """Train a policy from the order of its episodes. This is the default: zorank rl ENV.

    The optimizer only learns which episodes were better (zo-sgd, for comparison, gets rewards).
    The rewards on screen come from held-out resets that are not used for training. OUT gets
    policy.json, curve.csv, curve.png, clip.mp4 and run.db. After Ctrl-C the same command
    continues the run; with more --rounds it trains further.

    To evaluate and film a trained policy again: zorank rl replay FOLDER (see zorank rl replay
    --help).

    Examples: zorank rl Swimmer-v4 --out swimmer; zorank rl replay swimmer
    """
    from zorank.rl.training import TrainingSettings, open_search

    sizes = {name: value for name, value in (("m", m), ("k", k)) if value is not None}
    settings = TrainingSettings(
        env,
        method,
        {**sizes, **read_values(option or [])},
        seed,
        tuple(hidden or ()),
        bias=bias,
        raw=raw,
        unclipped=unclipped,
        independent=independent,
        steps=steps,
        ranked_steps=ranked_steps,
        paper=paper,
        record_values=not no_values,
    )
    allow_environment(env)
    folder = save or Path(f"policy-{env}")
    search = open_search(settings, folder)
    _train(search, folder, rounds, quiet)
    _report(search, folder)
    if not no_video:
        _film(search.policy(), folder / "clip.mp4", seconds)


@app.command()
def replay(
    folder: Annotated[
        Path | None,
        typer.Argument(help="The folder of zorank rl --out, or a policy.json."),
    ] = None,
    save: Annotated[
        Path | None,
        typer.Option("--out", help="The file of the clip. Default: clip.mp4 in FOLDER."),
    ] = None,
    env: Annotated[
        str | None,
        typer.Option(
            help="The policy's environment, needed only if it is module:Name, because a policy "
            "file must not import modules."
        ),
    ] = None,
    seconds: Seconds = 10.0,
    no_video: NoVideo = False,
    quiet: Annotated[bool, typer.Option("--quiet", hidden=True)] = False,
) -> None:
    """Evaluate a trained policy on held-out resets, and film it.

    Examples: zorank rl replay swimmer; zorank rl replay policy.json --out gait.mp4 --seconds 30
    """
    from zorank.rl import load_policy

    if folder is None:
        raise InvalidInput("replay needs a folder: zorank rl replay FOLDER")
    policy = load_policy(folder)
    if env not in (None, policy.problem.env):
        raise InvalidInput(
            f"the policy is for {policy.problem.env}, not for {env}; leave out --env, or name "
            f"{policy.problem.env}"
        )
    allow_environment(env)
    reward = policy.problem.reward(policy.parameters, policy.statistics)
    out.print(Text(f"{policy.problem.env}: reward {reward:,.1f} on held-out resets"))
    if not no_video:
        place = folder if folder.is_dir() else folder.parent
        _film(policy, save or place / "clip.mp4", seconds)


def _train(search: PolicySearch, folder: Path, rounds: int | None, quiet: bool) -> None:
    """Train with a progress bar; Ctrl-C stops after the current round."""
    from zorank.rl import training

    before = search.episodes
    columns = (BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    hidden = quiet or not log.is_terminal
    with ProgressBar(
        TextColumn("{task.description}"), *columns, console=log, disable=hidden
    ) as bar:
        task = bar.add_task("reward")
        try:
            for progress in training.train(search, folder, rounds):
                bar.update(task, completed=progress.done, total=progress.total)
                if progress.reward is not None:
                    bar.update(task, description=f"reward {progress.reward:,.1f}")
        except KeyboardInterrupt:
            bar.stop()
            log.print(
                f"stopped after {search.episodes} episodes; the run is saved, and the same "
                "command continues it"
            )
            training.evaluate(search, folder)
            return
    if search.episodes == before:
        log.print("the run already has this many rounds; give more --rounds to continue it")


def _report(search: PolicySearch, folder: Path) -> None:
    from zorank.cli.plots import plot_learning
    from zorank.rl.training import save_curve

    if not search.record_values:
        out.print(Text(f"{search.episodes:,} ranked episodes, no rewards\nsaved in {folder}"))
        return
    rows = save_curve(search, folder)
    title = f"{search.problem.env}, {search.run.record.optimizer}"
    try:
        plot_learning(rows, folder / "curve.png", title)
    except OSError as error:
        raise InvalidInput(f"the curve cannot be written: {error}") from error
    out.print(Text(f"{_summary(search, rows)}\nsaved in {folder}"))


def _summary(search: PolicySearch, rows: Sequence[Mapping[str, Any]]) -> str:
    kind = "rewarded" if search.run.ask().question == "values" else "ranked"
    steps = search.problem.ranked_steps
    first = "step" if steps == 1 else f"{steps} steps"
    cut = f", each by its first {first}" if search.problem.ranked_share < 1 else ""
    return (
        f"reward {rows[-1]['reward']:,.1f} on held-out resets after {search.episodes:,} "
        f"{kind} episodes{cut} ({rows[0]['reward']:,.1f} at the start)"
    )


def _film(policy: LearnedPolicy, file: Path, seconds: float) -> None:
    """Save a clip; if that fails, say why and go on."""
    from zorank.rl.training import save_clip

    try:
        filmed = save_clip(policy, file, seconds)
    except (ZorankError, OSError) as error:
        log.print(f"no clip: {error}", style="yellow", markup=False, highlight=False)
        return
    out.print(Text(f"filmed {filmed:.1f} s: {file}"))
