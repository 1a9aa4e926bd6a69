// A short queue for exhibits: a browser allows six connections per host, and answers must not wait behind
// exhibits that are still being rendered.

const CONNECTIONS_FOR_EXHIBITS = 4;

let loading = 0;
const waiting = [];

function next() {
  while (loading < CONNECTIONS_FOR_EXHIBITS && waiting.length) {
    loading += 1;
    waiting.shift()(() => {
      loading -= 1;
      next();
    });
  }
}

/** Calls start(release) when a connection is free; it must call release once. */
export function enqueue(start) {
  waiting.push(start);
  next();
}
