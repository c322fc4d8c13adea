import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { expect, it } from 'vitest';
import { linesOf } from '../../apps/dashboard/settings/act-lines.ts';
import { type Act, actNames } from '../../apps/dashboard/settings/acts.ts';
import { root } from '../../scripts/stack/paths.ts';

/** Of the whole installation: no organization sees them. */
const ofInstallation = ['org.close', 'org.delete', 'plan.set', 'webhook.reseal'];

it('every administrative act has a name in the list of activities, and no other', () => {
  const files = readdirSync(path.join(root, 'libs'), { recursive: true, encoding: 'utf8' });
  const source = files
    .filter((file) => file.endsWith('.ts'))
    .map((file) => readFileSync(path.join(root, 'libs', file), 'utf8'))
    .join('\n');
  const noted = new Set([...source.matchAll(/\bact(?:: |.*, )'([a-z]+\.[a-z-]+)'/g)].map(([, act = '']) => act));
  expect([...noted].sort()).toEqual([...Object.keys(actNames), ...ofInstallation].sort());
});

it('reads of one log by one person are one line, until a pause, another day or anything else that was done', () => {
  const act = (time: string, name = 'log.read', { actor = 'olga', subject = 'dom_1', what = 'records' } = {}): Act => ({
    at: `2026-08-14T${time}:10.000Z`,
    actor,
    act: name,
    subject,
    details: name === 'log.read' ? { what, records: 100 } : {},
  });
  const of = (acts: Act[]) =>
    linesOf(acts).map(({ act: { at, act: name, actor, subject, details }, since }) =>
      [at.slice(11, 16), since?.slice(11, 16), actor, name, subject, details.what, details.records].join(' ').trim(),
    );
  expect(
    of([
      act('09:46'),
      act('09:45', 'log.read', { actor: 'igor' }),
      act('09:45'),
      act('09:44', 'log.read', { subject: 'dom_2', what: 'record' }),
      act('09:42'),
      act('09:42', 'log.read', { subject: 'dom_2', what: 'proof' }),
      act('09:41', 'visitor.erase'),
      act('09:40'),
      act('09:10'),
      act('08:30'),
    ]),
  ).toEqual([
    '09:46 09:42 olga log.read dom_1 records 300',
    '09:45  igor log.read dom_1 records 100',
    '09:44 09:42 olga log.read dom_2  200',
    '09:41  olga visitor.erase dom_1',
    '09:40 09:10 olga log.read dom_1 records 200',
    '08:30  olga log.read dom_1 records 100',
  ]);
  const yesterday = { ...act('00:00'), at: '2026-08-13T23:59:50.000Z' };
  expect(of([act('00:00'), yesterday])).toHaveLength(2);
});
