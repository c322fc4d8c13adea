/**
 * Returns a function that passes its argument to `done`. If it is not called within `wait` milliseconds, `done` is called
 * without an argument. `done` is called exactly once.
 */
export function withTimeout<Given>(wait: number, done: (given?: Given) => void): (given?: Given) => void {
  let end = (given?: Given) => {
    end = () => {};
    done(given);
  };
  setTimeout(() => end(), wait);
  return (given) => end(given);
}
