"""The JSON routes of the HTTP interface, one module a topic.

Handlers only translate between HTTP and `Studio`. To add a route: declare its body and its
response in the module of its topic in models/, add a handler to the module of its topic here
(`OwnersRun`, `RatersRun` or `MembersRun` says who may call it), put its logic into `Studio`
(studio.py) or, if it only describes state, into the module of its topic in views/. Routes that
return files are in media.py. To add the control that calls it, see static/controls.js.
"""

from zorank.studio.routes import catalog, events, order, people, photos, rounds, runs

# Routes are matched one after another: those that pages call most often come first.
ROUTERS = (
    *(rounds.router, events.router, runs.router, people.router, catalog.router, order.router),
    photos.router,
)
