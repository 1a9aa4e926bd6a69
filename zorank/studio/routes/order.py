"""The routes about the order of a finite set: the order, and the exhibit of each thing."""

from __future__ import annotations

from typing import Annotated

import numpy as np
from fastapi import APIRouter, Path, Query, Request, Response

from zorank.items import order_of
from zorank.optimizers.rank_items import ENOUGH
from zorank.studio.dependencies import MembersRun
from zorank.studio.media import EXHIBIT, Size, send_rendered
from zorank.studio.models import ERRORS
from zorank.studio.models.order import OrderInfo, PlaceInfo
from zorank.studio.sessions import NotFound, Session
from zorank.studio.urls import Urls, versioned
from zorank.types import Vector

router = APIRouter(responses=ERRORS)


@router.get("/runs/{run_id}/order")
def show_order(
    run: MembersRun,
    limit: Annotated[int, Query(ge=1, le=10_000, description="how many places")] = 200,
) -> OrderInfo:
    """Return the order of the run's things and how certain it is; names are for the owner."""
    with run.session() as session:
        return order_info(session, run.studio.urls, limit, run.access.role == "owner")


@router.get("/runs/{run_id}/items/{index}", response_class=Response, responses=EXHIBIT)
async def show_item(
    run: MembersRun,
    index: Annotated[int, Path(ge=0, lt=1_000_000)],
    request: Request,
    size: Size = None,
) -> Response:
    """Return the exhibit of one of the run's things."""

    def candidate(session: Session) -> Vector:
        if index >= len(names_of(session)):
            raise NotFound(f"this run has no thing {index}")
        return np.array([float(index)])

    return await send_rendered(request, run, candidate, size)


def order_info(session: Session, urls: Urls, limit: int, with_names: bool) -> OrderInfo:
    """Describe the first places of a run's order."""
    names = names_of(session)
    found = order_of(session.run, names)
    renderer = session.renderer
    base = urls.run(session.run.name, "items")
    ahead = [*found.ahead.tolist(), None]
    places = [
        PlaceInfo(
            rank=rank + 1,
            item=item,
            name=names[item] if with_names else "",
            score=float(found.scores[item]),
            sd=float(found.sd[item]),
            ahead=ahead[rank],
            url=versioned(f"{base}/{item}", np.array([float(item)]), renderer),
            media_type=renderer.media_type,
        )
        for rank, item in enumerate(found.order[:limit].tolist())
    ]
    return OrderInfo(
        places=places,
        items=len(names),
        compared=len(session.run.state.posterior.seen),
        rounds=found.rounds,
        certainty=found.certainty,
        level=ENOUGH,
        settled=found.is_settled,
    )


def names_of(session: Session) -> list[str]:
    """Return the names of a run's things; raise NotFound if it does not rank a finite set."""
    if session.renderer.item_names is None:
        raise NotFound("this run searches a space, so it has no order of things")
    return list(session.renderer.item_names())
