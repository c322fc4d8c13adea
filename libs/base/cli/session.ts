/** What the process provides for a command, and how commands print. */
import { pipeline } from 'node:stream/promises';
import type { Command } from 'commander';
import type { Database } from '../db/database.ts';
import type { KeyName } from '../db/key-fingerprints.ts';
import type { RedisConnection } from '../redis/connection.ts';
import { visible } from './visible.ts';

/** Connections are opened for the work and closed after it. `Config`: the settings that a command uses. */
export interface Tools<Config = unknown> {
  /** Throws a BadSetting. Settings are read on demand, since no command needs all of them. */
  config(): Config;
  database<T>(work: (db: Database) => Promise<T>): Promise<T>;
  /** The same for work that uses these keys: refused unless they are in force. */
  keyed<T>(keys: KeyName[], work: (db: Database) => Promise<T>): Promise<T>;
  redis<T>(work: (redis: RedisConnection) => Promise<T>): Promise<T>;
}

/** What a verb prints: an object, or a function that prints. */
export type Printed = object | ((command: Command) => Promise<void> | void) | undefined;

export async function show(command: Command, printed: Printed): Promise<void> {
  if (typeof printed === 'function') await printed(command);
  else if (printed) print(command, printed);
}

const cellOf = (value: unknown): string => visible(textOf(value));

const textOf = (value: unknown): string => {
  if (value === null) return '–';
  if (value instanceof Date) return value.toISOString();
  if (Array.isArray(value))
    return value.map((each) => (typeof each === 'string' ? each : JSON.stringify(each))).join(' ') || '–';
  return typeof value === 'object' ? JSON.stringify(value) : String(value);
};

export const isJson = (command: Command): boolean => command.optsWithGlobals().json === true;

/** Prints one object: as JSON, or one field per line. */
export function print(command: Command, fields: object): void {
  if (isJson(command)) return void process.stdout.write(`${visible(JSON.stringify(fields))}\n`);
  const width = Math.max(...Object.keys(fields).map((name) => name.length));
  for (const [name, value] of Object.entries(fields)) process.stdout.write(`${name.padEnd(width)}  ${cellOf(value)}\n`);
}

/** Prints a list: as one JSON object under its `name`, or as a table. */
export const listed =
  (name: string, rows: readonly object[], empty?: string) =>
  (command: Command): Promise<void> =>
    printPages(command, name, [rows], empty);

/**
 * Prints a list page by page, with only one page in memory: as one JSON object under its `name`, or as a table whose
 * columns fit the first page.
 */
export async function printPages(command: Command, name: string, pages: Pages, empty = `no ${name}`): Promise<void> {
  await pipeline(isJson(command) ? asJson(name, pages) : asTable(pages, empty), process.stdout, { end: false });
}

type Pages = AsyncIterable<readonly object[]> | Iterable<readonly object[]>;

async function* asJson(name: string, pages: Pages) {
  yield `{${JSON.stringify(name)}:[`;
  let separator = '';
  for await (const page of pages) {
    if (page.length === 0) continue;
    yield separator + visible(page.map((row) => JSON.stringify(row)).join(','));
    separator = ',';
  }
  yield ']}\n';
}

async function* asTable(pages: Pages, empty: string) {
  let columns: { name: string; width: number }[] | undefined;
  const line = (cells: string[]) =>
    `${cells
      .map((cell, at) => cell.padEnd(columns?.[at]?.width ?? 0))
      .join('  ')
      .trimEnd()}\n`;
  for await (const page of pages) {
    const rows = page.map((row) => new Map(Object.entries(row)));
    const cellsOf = (name: string) => rows.map((row) => cellOf(row.get(name) ?? null));
    if (!columns && rows[0]) {
      columns = [...rows[0].keys()].map((name) => ({
        name,
        width: Math.max(...[name, ...cellsOf(name)].map(({ length }) => length)),
      }));
      yield line(columns.map(({ name }) => name));
    }
    const cells = columns?.map(({ name }) => cellsOf(name)) ?? [];
    yield rows.map((_, at) => line(cells.map((column) => column[at] ?? ''))).join('');
  }
  if (!columns) yield `${empty}\n`;
}

/** Prints the result of a check: as JSON with the differences, or as their number and a table. */
export const differing =
  <T extends object>(checked: object, differences: readonly T[], toRow: (difference: T) => object = (row) => row) =>
  async (command: Command): Promise<void> => {
    if (isJson(command)) return print(command, { ...checked, differences });
    print(command, { ...checked, differences: differences.length });
    if (differences.length > 0) await listed('differences', differences.map(toRow))(command);
  };

/** The item of a list with this id. Throws an error that names the id. */
export function find<T extends object>(rows: readonly T[], field: keyof T, id: string, noun: string): T {
  const row = rows.find((each) => each[field] === id);
  if (!row) throw new Error(`no ${noun} ${id}`);
  return row;
}
