/** One line per step, with the time it took. */
export function say(line: string): void {
  console.log(`  ${line}`);
}

export async function step<T>(
  name: string,
  work: () => Promise<T>,
  detail: (result: T) => string = () => '',
): Promise<T> {
  const start = performance.now();
  const result = await work();
  const seconds = `${((performance.now() - start) / 1000).toFixed(1)} s`;
  say(`${name.padEnd(12)}${seconds.padStart(7)}  ${detail(result)}`.trimEnd());
  return result;
}
