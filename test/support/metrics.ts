/** How many records an API took by its metrics: a pause of Redis has some stored without the queue. */
export const recordedIn = (metrics: string): number =>
  [...metrics.matchAll(/^assent_records_total\{outcome="(?:queued|persisted)"\} (\d+)$/gm)].reduce(
    (sum, [, count]) => sum + Number(count),
    0,
  );

/** The value of one sample on the operations port, given with all its labels; NaN if there is none. */
export async function sampleOf(opsUrl: string, sample: string): Promise<number> {
  const text = await (await fetch(`${opsUrl}/metrics`)).text();
  const line = text.split('\n').find((each) => each.startsWith(`${sample} `));
  return Number(line?.slice(sample.length));
}
