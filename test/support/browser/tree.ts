/** A page as a screen reader presents it, as lines of text. */
import type { CDPSession } from 'playwright-core';

/** Roles that say nothing by themselves. */
const silent = ['InlineTextBox', 'generic', 'none', 'LineBreak', 'ListMarker', 'code'];
const shown = ['checked', 'expanded', 'modal', 'focused', 'level'];

/**
 * The role, name, description and states of each, below what it belongs to; text that only repeats its parent's name is left
 * out. `session`: one of Chromium's debugger, for the page.
 */
export async function treeOf(session: CDPSession): Promise<string[]> {
  await session.send('Accessibility.enable');
  const { nodes } = await session.send('Accessibility.getFullAXTree');
  const byId = new Map(nodes.map((node) => [node.nodeId, node]));
  const walk = (id: string, depth: number, above: string): string[] => {
    const node = byId.get(id);
    if (!node) return [];
    const role = String(node.role?.value ?? '');
    const name = String(node.name?.value ?? '');
    const isShown = !node.ignored && !silent.includes(role) && !(role === 'StaticText' && name === above);
    const states = (node.properties ?? []).flatMap(({ name: state, value }) =>
      shown.includes(state) &&
      !(state === 'level' && role === 'listitem') &&
      value.value !== false &&
      value.value !== 'false'
        ? [`${state}=${value.value}`]
        : [],
    );
    const description = node.description?.value ? `(${node.description.value})` : '';
    const line = ['  '.repeat(depth) + role, name && `"${name}"`, description, ...states].filter(Boolean).join(' ');
    const below = (node.childIds ?? []).flatMap((child) =>
      walk(child, isShown ? depth + 1 : depth, isShown ? name : above),
    );
    return isShown ? [line, ...below] : below;
  };
  return nodes.filter(({ parentId }) => !parentId).flatMap(({ nodeId }) => walk(nodeId, 0, ''));
}
