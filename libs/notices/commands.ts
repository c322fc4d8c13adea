import { readFileSync } from 'node:fs';
import { Command } from 'commander';
import { isJson, print, printList, type Tools } from '#libs/base/cli/session';
import { visible } from '#libs/base/cli/visible';
import { wholeNumber } from '#libs/base/cli/whole-number';
import type { Database, Sql } from '#libs/base/db/database';
import { noticeHash } from '#libs/record/contract';
import { createPerform } from '#libs/tenants/audited-change';
import { readNotice } from './contract.ts';
import { findNotice, listNotices, putManagedNotice } from './documents.ts';

const mostListed = 10_000;

export function noticeCommand(tools: Tools<{ actor: string }>): Command {
  const command = new Command('notice').description('what visitors were shown: documents under their SHA-256');
  command
    .command('put <domain> <file>')
    .description('keep a JSON document; it is dropped if no record names it within 24 hours')
    .action(async (domainId: string, file: string, _: object, self: Command) => {
      const notice = readNotice(readFile(file));
      if ('refused' in notice) throw new Error(`${file} ${notice.refused}`);
      const put = await tools.database((db) =>
        putManagedNotice(createPerform(db, tools.config().actor), domainId, notice),
      );
      print(self, { domainId, notice: notice.hash, known: put !== 'new' });
    });
  command
    .command('list <domain>')
    .description('the newest, and how many records name each')
    .option('--limit <n>', `how many, up to ${mostListed}`, wholeNumber(mostListed), 50)
    .action(async (domainId: string, { limit }: { limit: number }, self: Command) => {
      const notices = await tools.database((db) =>
        inDomain(db, domainId, (sql) => listNotices(sql, { domainId, limit })),
      );
      printList(
        self,
        'notices',
        notices.map(({ number, ...notice }) => notice),
      );
    });
  command
    .command('show <domain> <hash>')
    .description('the document; into a file or a pipe byte for byte')
    .action(async (domainId: string, hash: string, _: object, self: Command) => {
      if (!noticeHash.safeParse(hash).success) throw new Error('a notice is named by 64 hex digits in lower case');
      const document = await tools.database((db) => inDomain(db, domainId, (sql) => findNotice(sql, domainId, hash)));
      if (!document) throw new Error(`domain ${domainId} has no notice ${hash}`);
      if (isJson(self)) print(self, { domainId, notice: hash, document: document.toString() });
      else process.stdout.write(process.stdout.isTTY ? `${visible(document.toString())}\n` : document);
    });
  return command;
}

function readFile(file: string): Uint8Array {
  try {
    return readFileSync(file);
  } catch (error) {
    throw new Error(`cannot read ${file}: ${error instanceof Error ? error.message : error}`);
  }
}

const inDomain = <T>(db: Database, domainId: string, work: (sql: Sql) => Promise<T>): Promise<T> =>
  db.write(async (sql) => {
    const [domain] = await sql`select from domains where id = ${domainId}`;
    if (!domain) throw new Error(`no domain ${domainId}`);
    return work(sql);
  });
