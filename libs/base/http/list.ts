/** Pages of a list sorted by row number, newest first. */
import { type Binding, makeNumberCursor, readNumberCursor } from './cursor.ts';

const defaultLimit = 50;

export interface ListQuery {
  limit?: number | undefined;
  cursor?: string | undefined;
}

interface Range {
  limit: number;
  /** the number of the row after which the page begins */
  after: number | undefined;
}

/** `of`: the kind of item, such as `webhook`. Throws a 400 for a wrong cursor before anything is read. */
export function listOf(of: string, { limit = defaultLimit, cursor }: ListQuery, binding: Binding) {
  const after = cursor === undefined ? undefined : readNumberCursor(of, cursor, binding);
  return async <Row extends { number: number }>(read: (range: Range) => Promise<Row[]>) => {
    // one more row shows whether others follow
    const found = await read({ limit: limit + 1, after });
    const page = found.slice(0, limit);
    const last = page.at(-1);
    const nextCursor = found.length > limit && last ? makeNumberCursor(of, last.number, binding) : null;
    return { page, nextCursor };
  };
}
