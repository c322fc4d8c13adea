/** Returns what calls `done` once: with what it is given, or with nothing after `wait` milliseconds. */
export function onceWithin<Given>(wait: number, done: (given?: Given) => void): (given?: Given) => void {
  let end = (given?: Given) => {
    end = () => {};
    done(given);
  };
  setTimeout(() => end(), wait);
  return (given) => end(given);
}
