/** A progress bar on a terminal's standard error, with its rate. */
const width = 30;
/** milliseconds */
const between = 200;

interface Progress {
  /** `text` replaces the number and rate behind the bar */
  show(done: number, text?: string): void;
  end(): void;
}

/** `total` 0: unknown. Shows nothing if standard error is not a terminal. */
export function createProgress(total: number, noun: string): Progress {
  if (!process.stderr.isTTY) return { show: () => {}, end: () => {} };
  const started = performance.now();
  let shown = 0;
  return {
    show: (done, text) => {
      const now = performance.now();
      if (now < shown + between) return;
      shown = now;
      const rate = Math.round(done / ((now - started) / 1_000));
      process.stderr.write(`\r\u001b[K${bar(done, total)}${text ?? `${done} ${noun}, ${rate}/s`}`);
    },
    end: () => void process.stderr.write('\r\u001b[K'),
  };
}

function bar(done: number, total: number): string {
  if (total === 0) return '';
  const share = Math.min(1, done / total);
  const filled = Math.round(share * width);
  return `[${'#'.repeat(filled)}${'-'.repeat(width - filled)}] ${Math.floor(share * 100)} %  `;
}
