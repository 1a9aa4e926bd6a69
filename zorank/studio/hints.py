"""Hints beside the printed link, for when the studio's page does not open by itself."""

from __future__ import annotations

from collections.abc import Mapping


def hints(
    environment: Mapping[str, str],
    user: str,
    port: int,
    wanted: int | None,
    opened: bool | None,
    only_local: bool,
) -> list[str]:
    """Return sentences for whoever started the studio.

    Args:
        environment: the process's environment, which says whether it was started over SSH.
        user: the name of the user who started it.
        port: the port that the studio listens on.
        wanted: the default port, if it was not free; else None.
        opened: whether a browser was opened; None if none was asked for.
        only_local: whether the studio can be reached from this machine only.
    """
    sentences = []
    if wanted is not None:
        sentences.append(
            f"Port {wanted} is in use, by another studio perhaps, so this one has {port}; --port "
            "chooses another."
        )
    _, _, machine, *_ = [*environment.get("SSH_CONNECTION", "").split(), "", "", ""]
    if machine and only_local:
        tunnel = f"ssh -N -L {port}:127.0.0.1:{port} {user}@{machine}"
        sentences.append(
            "You are connected over SSH. To open the link in the browser of your own machine, run "
            f"there first: {tunnel}"
        )
    elif opened is False:
        sentences.append("No browser could be opened: copy the link into one.")
    return sentences
