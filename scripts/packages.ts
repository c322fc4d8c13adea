/** Installs the packages and nothing else: `scripts/run.mjs` has done so by the time this runs. */
export {};
