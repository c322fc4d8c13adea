import { expect, it } from 'vitest';
import { unservedSlots } from '#libs/base/redis/health';

const half = 8_192;
const unserved = 'the cluster has slots that no node serves';
const [one, other] = [
  ['a:1', 'c:3'],
  ['b:2', 'd:4'],
];
/** As the client keeps them: every slot of a node has the same list, and what nobody has is left out. */
const slotsOf = (...parts: [many: number, nodes: string[] | undefined][]): string[][] => {
  const slots: string[][] = [];
  for (const [slot, nodes] of parts.flatMap(([many, nodes]) => Array(many).fill(nodes)).entries())
    if (nodes) slots[slot] = nodes;
  return slots;
};

it.each<[string, string[][], string[], string | null]>([
  ['each has a master that is connected', slotsOf([half, one], [half, other]), ['a:1', 'b:2'], null],
  ['a master is lost', slotsOf([half, one], [half, other]), ['b:2'], 'the master a:1 is not connected'],
  // while a cluster is made, or once a node was forgotten
  ['the first has nobody', slotsOf([1, undefined], [half - 1, one], [half, other]), ['a:1', 'b:2'], unserved],
  ['one in the middle has nobody', slotsOf([half, one], [1, undefined], [half - 1, other]), ['a:1', 'b:2'], unserved],
  ['the last has nobody', slotsOf([half, one], [half - 1, other]), ['a:1', 'b:2'], unserved],
  ['none has anybody', [], ['a:1', 'b:2'], unserved],
])('of the slots of a Redis Cluster %s', (_, slots, connected, fault) => {
  expect(unservedSlots(slots, connected)).toBe(fault);
});
