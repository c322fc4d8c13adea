/** How far it has come: one line that is drawn anew on a terminal, now and then a line elsewhere, nothing for machines. */
import type { Progress } from './fill.ts';

const width = 20;
/** Milliseconds. */
const drawEvery = 100;
/** Shares of the whole after which a line is written where there is no terminal. */
const tellEvery = 0.1;

export interface ProgressLine {
  show(progress: Progress): void;
  /** Leaves the terminal's line. */
  end(): void;
}

export function createProgressLine(out: NodeJS.WriteStream, isJson: boolean): ProgressLine {
  if (isJson) return { show: () => {}, end: () => {} };
  const started = performance.now();
  return out.isTTY ? drawn(out, started) : told(out, started);
}

function drawn(out: NodeJS.WriteStream, started: number): ProgressLine {
  let drawnAt = Number.NEGATIVE_INFINITY;
  let isOpen = false;
  return {
    show: (progress) => {
      const now = performance.now();
      if (now - drawnAt < drawEvery && progress.done < 1) return;
      drawnAt = now;
      isOpen = true;
      const filled = Math.round(progress.done * width);
      const bar = '█'.repeat(filled) + '░'.repeat(width - filled);
      const text = `${bar} ${describe(progress, now - started)}`;
      out.write(`\r\x1b[2K${text.slice(0, Math.max(20, (out.columns || 80) - 1))}`);
    },
    end: () => {
      if (isOpen) out.write('\n');
      isOpen = false;
    },
  };
}

function told(out: NodeJS.WriteStream, started: number): ProgressLine {
  let next = tellEvery;
  return {
    show: (progress) => {
      if (progress.done < next) return;
      while (next <= progress.done) next += tellEvery;
      out.write(`${describe(progress, performance.now() - started)}\n`);
    },
    end: () => {},
  };
}

/** `elapsed`: milliseconds */
export function describe({ date, done, added, present }: Progress, elapsed: number): string {
  const rate = Math.round(added / Math.max(elapsed / 1000, 0.001));
  const left = done > 0 ? Math.round((elapsed / done - elapsed) / 1000) : 0;
  const remaining = `${Math.floor(left / 60)}:${String(left % 60).padStart(2, '0')} left`;
  const percent = `${Math.floor(done * 100)} %`.padStart(5);
  return `${percent}  ${date}  ${grouped(added + present)} records  ${grouped(rate)}/s  ${remaining}`;
}

export const grouped = (count: number): string => count.toLocaleString('en-US');
