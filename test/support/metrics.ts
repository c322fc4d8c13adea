/** How many records an API took by its metrics: a pause of Redis has some stored without the queue. */
export const recordedIn = (metrics: string): number =>
  [...metrics.matchAll(/^assent_records_total\{outcome="(?:queued|persisted)"\} (\d+)$/gm)].reduce(
    (sum, [, count]) => sum + Number(count),
    0,
  );
