/** The rooms of the architecture (test/support/rooms.ts), held against the imports and the SQL of apps and libs. */
import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import * as house from '../support/rooms.ts';

const root = path.resolve(import.meta.dirname, '../..');
const read = (file: string) => readFileSync(path.join(root, file), 'utf8');
const list = (folder: string) =>
  readdirSync(path.join(root, folder), { recursive: true, encoding: 'utf8' }).map((name) => `${folder}/${name}`);
const files = ['apps', 'libs'].flatMap(list).filter((file) => /\.tsx?$/.test(file));

interface Import {
  /** as it is written */
  name: string;
  /** a file, or a package */
  to: string;
  kind: 'type' | 'static' | 'dynamic';
}

function importsIn(file: string): Import[] {
  const named = (kind: Import['kind'], name = ''): Import => {
    const isFile = name.startsWith('.');
    const to = isFile ? path.join(path.dirname(file), name) : name.replace(/^#(libs\/.*)/, '$1.ts');
    return { name, to, kind };
  };
  const statement = /^(?:import|export(?= type \{| \{| \*))(\s[^;'"`]*?\bfrom)?\s*'([^'\n]+)'/gm;
  return [
    // what is behind `import { type A }` is loaded all the same
    ...[...read(file).matchAll(statement)].map(([, clause, name]) =>
      named(clause?.startsWith(' type ') ? 'type' : 'static', name),
    ),
    ...[...read(file).matchAll(/\bimport\(\s*'([^'\n]+)'/g)].map(([, name]) => named('dynamic', name)),
  ];
}
const imports = new Map(files.map((file) => [file, importsIn(file)]));
const importsOf = (file: string) => imports.get(file) ?? [];
const isOurs = (to: string) => /^(apps|libs)\//.test(to);

const words = (text: string) => text.split(/\s+/);
const pairs = (lists: Record<string, string>) =>
  Object.entries(lists).flatMap(([name, text]) => words(text).map((word): [string, string] => [name, word]));
const told = (lists: Record<string, string>) => pairs(lists).map(([file, what]) => `${file} → ${what}`);
const longest = <T>(file: string, entries: [path: string, T][]) =>
  entries.filter(([from]) => file.startsWith(from)).sort(([a], [b]) => b.length - a.length)[0];

/** `log`, or `log/pages`, by its folder; of apps, a process has one. */
const folderRoom = /^(?:apps\/(?<app>api|worker|cli|process|settings)|libs\/(?<room>[\w-]+(?:\/[\w-]+)?))\//;
/** Undefined for a page, and for what is not ours. */
const roomOf = (file: string) => {
  const { app, room } = folderRoom.exec(file)?.groups ?? {};
  return app ?? room;
};
const topOf = (room: string) => room.replace(/\/.*/, '');
const floorOf = (room: string) => house.floors.findIndex((floor) => floor.includes(topOf(room)));

const folderOf = (file: string) => /^[^/]+\/[^/]+\//.exec(file)?.[0];
function mayImport(from: string, { name, to }: Import): boolean {
  const room = roomOf(from) ?? '';
  if (!isOurs(to)) return words(house.drivers[to] ?? room).some((may) => room.startsWith(may));
  if (name.startsWith('.') && to.startsWith('libs/') && folderOf(from) !== folderOf(to)) return false;
  const other = roomOf(to) ?? '';
  if (topOf(room) === topOf(other)) return true;
  return floorOf(room) < floorOf(other) && (/^(base\/.*|proof\/tree)$/.test(other) || topOf(other) === other);
}

/** All that loading these loads, each with what loads it: by imports of these kinds. */
function reach(from: string[], kinds: Import['kind'][] = ['static']): Map<string, string> {
  const loaded = new Map(from.map((file) => [file, '']));
  for (const [file] of loaded) {
    for (const { to, kind } of importsOf(file)) {
      if (kinds.includes(kind) && !loaded.has(to)) loaded.set(to, file);
    }
  }
  return loaded;
}

describe('rooms', () => {
  it('have all files that are no page, and none is empty', () => {
    const isHoused = (file: string) => floorOf(roomOf(file) ?? '') !== -1;
    const homeless = files.filter((file) => !isHoused(file) && !longest(file, Object.entries(house.inBrowsers)));
    const housed = files.map((file) => topOf(roomOf(file) ?? ''));
    const empty = house.floors.flat().filter((room) => !housed.includes(room));
    expect({ homeless, empty }).toEqual({ homeless: [], empty: [] });
  });

  it('import from lower floors alone, and only the top of a room, so that there is no circle', () => {
    const refused = files.flatMap((file) =>
      (roomOf(file) === undefined ? [] : importsOf(file))
        .filter((each) => (isOurs(each.to) || each.to in house.drivers) && !mayImport(file, each))
        .map(({ to }) => `${file} → ${to}`),
    );
    expect(refused).toEqual([]);
  });

  it('write tables of their own alone, and every table has one owner', () => {
    const made = new Set<string>();
    for (const file of list('libs/base/db/migrations').sort()) {
      const [up = ''] = read(file).split('-- migrate:down');
      for (const [, table = ''] of up.matchAll(/^create table (?:if not exists )?(\w+)/gm)) made.add(table);
      for (const [, gone = ''] of up.matchAll(/^drop table (?:if exists )?([\w, ]+)/gm))
        for (const table of gone.split(', ')) made.delete(table);
    }
    const owned = Object.entries(house.tables).flatMap(([room, own]) =>
      own.map(({ name }): [string, string] => [name, room]),
    );
    const owners = new Map(owned);
    expect(owned.map(([table]) => table).sort()).toEqual([...made].sort());
    const written = files.flatMap((file) =>
      [...read(file).matchAll(/\b(?:insert into|update|delete from|merge into|truncate)\s+(\w+|\$\{)/g)]
        .flatMap(([, table = '']) => (table === '${' || made.has(table) ? [table] : []))
        .filter((table) => owners.get(table) !== topOf(roomOf(file) ?? ''))
        .map((table) => `${file} → ${table}`),
    );
    expect([...new Set(written)].sort()).toEqual(told(house.writtenTogether).sort());
  });
});

describe('pages', () => {
  it.each(Object.keys(house.inBrowsers))(
    '%s loads only what runs there, and knows only types of the contract',
    (folder) => {
      const own = folderOf(folder) ?? '';
      const may = [own, ...words(house.inBrowsers[folder] ?? '')];
      const refused = files
        .filter((file) => longest(file, Object.entries(house.inBrowsers))?.[0] === folder)
        .flatMap((file) => {
          const outside = importsOf(file).filter(({ to }) => !to.startsWith(own));
          const types = outside.filter(({ to, kind }) => kind === 'type' && !house.contract.test(to));
          const loaded = reach(outside.filter(({ kind }) => kind !== 'type').map(({ to }) => to));
          return [...types.map(({ to }) => to), ...loaded.keys()]
            .filter((to) => !may.some((each) => (roomOf(to) ?? to).startsWith(each)))
            .map((to) => `${file} → ${to}`);
        });
      expect(refused).toEqual([]);
    },
  );

  it('of the dashboard import its folders from top to bottom, and no page another', () => {
    const folders = house.dashboard.flatMap((names, floor) =>
      words(names).map((name): [string, number] => [`apps/dashboard/${name}`, floor]),
    );
    const floor = (file: string) => longest(file, folders)?.[1] ?? house.dashboard.length;
    const pageOf = (file: string) => (floor(file) === 1 ? longest(file, folders)?.[0] : undefined);
    const refused = files
      .filter((file) => file.startsWith('apps/dashboard/'))
      .flatMap((file) =>
        importsOf(file)
          .filter(({ to }) => to.startsWith('apps/dashboard/'))
          .filter(({ to }) => floor(to) < floor(file) || (pageOf(file) && pageOf(to) && pageOf(to) !== pageOf(file)))
          .map(({ to }) => `${file} → ${to}`),
      );
    expect(refused).toEqual([]);
  });
});

it('no files import each other in a circle, be it for types or on demand', () => {
  const circular = files.flatMap((file) =>
    importsOf(file)
      .filter(({ to }) => reach([to], ['type', 'static', 'dynamic']).has(file))
      .map(({ to }) => `${file} → ${to}`),
  );
  expect(circular).toEqual([]);
});

it.each(Object.entries(house.onDemand))('%s does not load what is loaded on demand', (entry, later) => {
  const isLater = (to: string) => words(later).some((from) => to.startsWith(from));
  expect([...reach([entry])].filter(([to]) => isLater(to))).toEqual([]);
  const loaded = [...imports.values()].flat().filter(({ kind }) => kind === 'dynamic');
  const unused = words(later).filter((from) => isOurs(from) && !loaded.some(({ to }) => to.startsWith(from)));
  expect(unused, 'loaded by nobody').toEqual([]);
});
