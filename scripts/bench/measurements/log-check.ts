import { z } from 'zod';
import { atMost } from '../figures.ts';
import type { Measurement } from '../measurement.ts';
import { persistAlone } from '../programs.ts';
import { makeSealSettings, untilSealed } from '../sealed.ts';

const result = z.object({ checked: z.number(), differences: z.array(z.unknown()) });

/** Five times as many records as others measure with: a million. */
export const logCheck: Measurement = {
  name: 'log-check',
  about: 'how long `assent log check` takes for a million sealed records, with nothing else going on',
  figure: async (stack, { records }) => {
    await stack.reset();
    const worker = await stack.startWorker(makeSealSettings());
    await persistAlone(stack, { records: 5 * records });
    for (const { domainId } of stack.sites) await untilSealed(stack, domainId);
    await worker.stop();
    return async () => {
      const started = performance.now();
      const { checked, differences } = result.parse(JSON.parse(await stack.cli('--json', 'log', 'check')));
      if (differences.length > 0) throw new Error(`${differences.length} differences`);
      const seconds = (performance.now() - started) / 1_000;
      return {
        'log-check': { value: seconds, unit: 's' },
        'log-check: entries': { value: checked, unit: '' },
        'log-check: each': { value: (seconds / checked) * 1e6, unit: 'µs' },
      };
    };
  },
  targets: { 'log-check': atMost(30) },
};
