/** The widget's files: of this build from memory, of other releases from Postgres. */
import { LRUCache } from 'lru-cache';
import { Batcher } from '#libs/base/batcher';
import type { Database } from '#libs/base/db/database';
import type { Log } from '#libs/base/ops/process-log';
import { every, type Rounds } from '#libs/base/timers';
import {
  type FileKey,
  findWidgetFiles,
  keepWidgetFiles,
  readWidgetFile,
  textsFile,
  type WidgetFile,
  type WidgetFileName,
  widgetFileNames,
} from '#libs/widget/files';
import { type PackedFile, pack } from './send-packed.ts';

type ServedFile = WidgetFile & PackedFile;

export interface WidgetCache {
  current(name: WidgetFileName): ServedFile;
  /** Of any release. Rejects if it is not in memory and Postgres is down. */
  find(name: WidgetFileName, hash: string): Promise<ServedFile | undefined>;
  /** The texts in one language, of any release. Rejects as `find` does. */
  pack(hash: string, language: string): Promise<PackedFile | undefined>;
  /** Stores this build's files for later releases. Retries until it succeeds. */
  store(): void;
  close(): void;
}

/** Milliseconds between retries. */
const retryEvery = 5_000;
/** Milliseconds for a lookup. */
const patience = 1_500;
/** Files of other releases kept in memory. */
const others = 50;

const toServed = (file: WidgetFile): ServedFile => ({ ...pack(file.content), ...file });
const keyOf = ({ name, hash }: FileKey): string => `${name} ${hash}`;

/** By language. */
function packsOf({ content }: WidgetFile): Map<string, PackedFile> {
  const all = JSON.parse(Buffer.from(content).toString()) as Record<string, object>;
  return new Map(
    Object.entries(all).map(([language, texts]) => [language, pack(Buffer.from(JSON.stringify(texts)))] as const),
  );
}

interface WidgetCacheParts {
  db: Database;
  /** the folder of the builds */
  build: URL;
  log: Pick<Log, 'warn'>;
  /** called when this build's files could not be stored; that is retried */
  onStoreError?: () => void;
}

export function createWidgetCache({ db, build, log, onStoreError = () => {} }: WidgetCacheParts): WidgetCache {
  const widget = new URL('widget/', build);
  const files = new Map(
    ([...widgetFileNames, textsFile] as const).map((name) => [name, toServed(readWidgetFile(widget, name))]),
  );
  const known = new LRUCache<string, ServedFile>({ max: others });
  const packs = new LRUCache<string, Map<string, PackedFile>>({ max: others });
  // one query at a time, since anybody can ask for any hashes
  const lookups = new Batcher<FileKey, Map<string, ServedFile>>({
    run: async (keys) => {
      const found = await db.read((sql) => findWidgetFiles(sql, keys), { deadline: patience });
      return new Map(found.map((file) => [keyOf(file), toServed(file)]));
    },
    maxBatch: 20,
    maxPending: 500,
    patience,
  });
  let tries: Rounds | undefined;

  const current = (name: WidgetFileName): ServedFile => {
    const file = files.get(name);
    if (!file) throw new Error(`the build lacks ${name}`);
    return file;
  };

  async function find(name: WidgetFileName, hash: string): Promise<ServedFile | undefined> {
    if (current(name).hash === hash) return current(name);
    const key = keyOf({ name, hash });
    const cached = known.get(key);
    if (cached) return cached;
    const found = (await lookups.add({ name, hash })).get(key);
    if (found) known.set(key, found);
    return found;
  }

  return {
    current,
    find,
    pack: async (hash, language) => {
      const file = packs.has(hash) ? undefined : await find(textsFile, hash);
      if (file) packs.set(hash, packsOf(file));
      return packs.get(hash)?.get(language);
    },
    store: () => {
      const begun = every({
        name: 'keep_widget_files',
        pace: retryEvery,
        task: async () => {
          await db.write((sql) => keepWidgetFiles(sql, [...files.values()]));
          void begun.stop();
        },
        failed: (error, isNews) => {
          onStoreError();
          if (isNews) log.warn({ err: error }, "could not store the widget's files; retrying");
        },
      });
      tries = begun;
      void begun.now();
    },
    close: () => void tries?.stop(),
  };
}
