import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { expect, it } from 'vitest';
import { actNames } from '../../apps/dashboard/settings/acts.ts';
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
