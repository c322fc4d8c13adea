/** What the process hands to a command, and how a command prints. */
import { pipeline } from 'node:stream/promises';
import type { Command } from 'commander';
import type { Database } from '../db/database.ts';
import type { KeyName } from '../db/key-fingerprints.ts';
import type { RedisConnection } from '../redis/connection.ts';
import { visible } from './visible.ts';

/** Connections are opened for the work, and closed after it. `Config`: the settings that a command uses. */
export interface Tools<Config = unknown> {
  /** Throws a BadSetting; each part is read on demand, since no command needs all of them. */
  config(): Config;
  database<T>(work: (db: Database) => Promise<T>): Promise<T>;
  /** The same for work that uses these keys: refused under another than the one in force. */
  keyed<T>(keys: KeyName[], work: (db: Database) => Promise<T>): Promise<T>;
  redis<T>(work: (redis: RedisConnection) => Promise<T>): Promise<T>;
}

type Value = string | number | boolean | null | Date | string[] | object;
type Row = Record<string, Value>;

const show = (value: Value): string => visible(textOf(value));

const textOf = (value: Value): string => {
  if (value === null) return '–';
  if (value instanceof Date) return value.toISOString();
  if (Array.isArray(value))
    return value.map((each) => (typeof each === 'string' ? each : JSON.stringify(each))).join(' ') || '–';
  return typeof value === 'object' ? JSON.stringify(value) : String(value);
};

export const isJson = (command: Command): boolean => command.optsWithGlobals().json === true;

const printJson = (value: object) => process.stdout.write(`${visible(JSON.stringify(value))}\n`);

/** One object: as JSON, or a line for each field. */
export function print(command: Command, fields: Row): void {
  if (isJson(command)) return void printJson(fields);
  const width = Math.max(...Object.keys(fields).map((name) => name.length));
  for (const [name, value] of Object.entries(fields)) process.stdout.write(`${name.padEnd(width)}  ${show(value)}\n`);
}

/** A list: as one JSON object under its `name`, or as a table. */
export function printList(command: Command, name: string, rows: readonly Row[], empty = `no ${name}`): void {
  if (isJson(command)) return void printJson({ [name]: rows });
  const [first] = rows;
  if (!first) return void process.stdout.write(`${empty}\n`);
  const columns = Object.keys(first);
  const widths = columns.map((column) =>
    Math.max(column.length, ...rows.map((row) => show(row[column] ?? null).length)),
  );
  const line = (cells: string[]) =>
    process.stdout.write(
      `${cells
        .map((cell, at) => cell.padEnd(widths[at] ?? 0))
        .join('  ')
        .trimEnd()}\n`,
    );
  line(columns);
  for (const row of rows) line(columns.map((column) => show(row[column] ?? null)));
}

/**
 * A list that comes a page at a time, of which only one is held: as one JSON object under its `name`, or as a table whose
 * columns are as wide as the first page needs.
 */
export async function printPages<const Column extends string>(
  command: Command,
  name: string,
  columns: readonly Column[],
  pages: AsyncIterable<Record<Column, Value>[]>,
): Promise<void> {
  const texts = isJson(command) ? asJson(name, columns, pages) : asTable(name, columns, pages);
  await pipeline(texts, process.stdout, { end: false });
}

async function* asJson<Column extends string>(
  name: string,
  columns: readonly Column[],
  pages: AsyncIterable<Record<Column, Value>[]>,
) {
  yield `{${JSON.stringify(name)}:[`;
  let separator = '';
  for await (const page of pages) {
    if (page.length === 0) continue;
    const rows = page.map((row) => JSON.stringify(Object.fromEntries(columns.map((column) => [column, row[column]]))));
    yield separator + visible(rows.join(','));
    separator = ',';
  }
  yield ']}\n';
}

async function* asTable<Column extends string>(
  name: string,
  columns: readonly Column[],
  pages: AsyncIterable<Record<Column, Value>[]>,
) {
  let widths: number[] | undefined;
  const line = (cells: string[]) =>
    `${cells
      .map((cell, at) => cell.padEnd(widths?.[at] ?? 0))
      .join('  ')
      .trimEnd()}\n`;
  for await (const page of pages) {
    if (page.length === 0) continue;
    const rows = page.map((row) => columns.map((column) => show(row[column])));
    if (!widths) {
      widths = columns.map((column, at) => Math.max(column.length, ...rows.map((row) => row[at]?.length ?? 0)));
      yield line([...columns]);
    }
    yield rows.map(line).join('');
  }
  if (!widths) yield `no ${name}\n`;
}

/** The one of a list with this id, or an error that names it. */
export function find<T extends Row>(rows: readonly T[], field: keyof T, id: string, noun: string): T {
  const row = rows.find((each) => each[field] === id);
  if (!row) throw new Error(`no ${noun} ${id}`);
  return row;
}
