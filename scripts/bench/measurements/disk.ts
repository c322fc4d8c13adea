import { diskUse } from '../disk-use.ts';
import type { Measurement } from '../measurement.ts';
import { persistAlone } from '../programs.ts';

/** Bytes hardly differ between rounds, so that the records are stored once. */
export const disk: Measurement = {
  name: 'disk',
  about: 'bytes of a stored record: on disk, in all and by part, and in the write-ahead log',
  targets: {},
  figure: async (stack, { records }) => {
    const { 'persist: log': log } = await persistAlone(stack, { records });
    const stored = await stack.stored();
    const parts = Object.entries(await diskUse(stack.db))
      .map(([part, bytes]) => ({ part, value: (bytes - (stack.diskUseWhenNew[part] ?? 0)) / stored }))
      .filter(({ value }) => value > 0);
    const sumOf = (some: typeof parts) => ({ value: some.reduce((sum, { value }) => sum + value, 0), unit: 'bytes' });
    const figures = {
      disk: sumOf(parts),
      'disk: indexes': sumOf(parts.filter(({ part }) => part.startsWith('index '))),
      ...Object.fromEntries(parts.map((each) => [`disk: ${each.part}`, sumOf([each])])),
      ...(log && { 'disk: log': log }),
    };
    return async () => figures;
  },
};
