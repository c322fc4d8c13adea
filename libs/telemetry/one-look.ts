/** A look that several gauges share: those that are scraped at once wait for one and the same. */
export function oneLook<Seen>(
  look: () => Promise<Seen>,
  show: (seen: Seen) => void,
  onError: () => void,
): () => Promise<void> {
  let looking: Promise<void> | undefined;
  return () => {
    looking ??= look()
      .then(show, onError)
      .finally(() => {
        looking = undefined;
      });
    return looking;
  };
}
