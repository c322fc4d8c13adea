import { describe, expect, it } from 'vitest';
import { unservedSlots } from '#libs/queue/health';

const half = 8_192;
/** As the client keeps them: every slot of a node has the same list. */
function slotsOf(...parts: [many: number, nodes: string[] | undefined][]): string[][] {
  const slots: string[][] = [];
  let slot = 0;
  for (const [many, nodes] of parts) {
    for (let each = 0; each < many; each += 1, slot += 1) if (nodes) slots[slot] = nodes;
  }
  return slots;
}

describe('the slots of a Redis Cluster', () => {
  const [one, other] = [
    ['a:1', 'c:3'],
    ['b:2', 'd:4'],
  ];

  it('are all served where each has a master that is connected', () => {
    expect(unservedSlots(slotsOf([half, one], [half, other]), ['a:1', 'b:2'])).toBe(null);
  });

  it('are not where a master is lost', () => {
    expect(unservedSlots(slotsOf([half, one], [half, other]), ['b:2'])).toBe('the master a:1 is not connected');
  });

  // the client leaves out what nobody has: while a cluster is made, or once a node was forgotten
  it.each<[string, string[][]]>([
    ['first', slotsOf([1, undefined], [half - 1, one], [half, other])],
    ['in the middle', slotsOf([half, one], [1, undefined], [half - 1, other])],
    ['last', slotsOf([half, one], [half - 1, other])],
    ['all', []],
  ])('are not where some belong to nobody: %s', (_, slots) => {
    expect(unservedSlots(slots, ['a:1', 'b:2'])).toBe('the cluster has slots that no node serves');
  });
});
