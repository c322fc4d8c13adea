/** Returns a function that passes what it is given to `done`. After `wait` milliseconds `done` is called without. Once in all. */
export function withTimeout<Given>(wait: number, done: (given?: Given) => void): (given?: Given) => void {
  let end = (given?: Given) => {
    end = () => {};
    done(given);
  };
  setTimeout(() => end(), wait);
  return (given) => end(given);
}
