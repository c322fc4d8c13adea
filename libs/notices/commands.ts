import { readFileSync } from 'node:fs';
import { Command } from 'commander';
import { isJson, listed, print, type Tools } from '#libs/base/cli/session';
import { flags, limited, none, verbsOf } from '#libs/base/cli/verb';
import { visible } from '#libs/base/cli/visible';
import type { Sql } from '#libs/base/db/database';
import { noticeHash } from '#libs/record/contract';
import { createPerform } from '#libs/tenants/audited-change';
import { requireDomain } from '#libs/tenants/command-subject';
import { readNotice } from './contract.ts';
import { findNotice, listNotices, putManagedNotice } from './documents.ts';

export function noticeCommand(tools: Tools<{ actor: string }>): Command {
  const noun = new Command('notice').description('what visitors were shown: documents under their SHA-256');
  const verb = verbsOf(noun);
  const inDomain = <T>(domainId: string, work: (sql: Sql) => Promise<T>): Promise<T> =>
    tools.database(async (db) => {
      await requireDomain(db, domainId);
      return db.write(work);
    });

  verb('put <domain> <file>', none, async (_, domainId, file) => {
    const notice = readNotice(readFile(file));
    if ('refused' in notice) throw new Error(`${file} ${notice.refused}`);
    const put = await tools.database((db) =>
      putManagedNotice(createPerform(db, tools.config().actor), domainId, notice),
    );
    return { domainId, notice: notice.hash, known: put !== 'new' };
  }).description('keep a JSON document; it is dropped if no record names it within 24 hours');

  verb('list <domain>', flags(limited(50)), async ({ limit }, domainId) => {
    const notices = await inDomain(domainId, (sql) => listNotices(sql, { domainId, limit }));
    return listed(
      'notices',
      notices.map(({ number, ...notice }) => notice),
    );
  }).description('the newest, and how many records name each');

  verb('show <domain> <hash>', none, async (_, domainId, hash) => {
    if (!noticeHash.safeParse(hash).success) throw new Error('a notice is named by 64 hex digits in lower case');
    const document = await inDomain(domainId, (sql) => findNotice(sql, domainId, hash));
    if (!document) throw new Error(`domain ${domainId} has no notice ${hash}`);
    return (self) => {
      if (isJson(self)) print(self, { domainId, notice: hash, document: document.toString() });
      else process.stdout.write(process.stdout.isTTY ? `${visible(document.toString())}\n` : document);
    };
  }).description('the document; into a file or a pipe byte for byte');
  return noun;
}

function readFile(file: string): Uint8Array {
  try {
    return readFileSync(file);
  } catch (error) {
    throw new Error(`cannot read ${file}: ${error instanceof Error ? error.message : error}`);
  }
}
