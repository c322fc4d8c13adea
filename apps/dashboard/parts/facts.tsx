/** A list of names and values. */
import type { ComponentChildren } from 'preact';

export const Facts = ({ class: own, children }: { class?: string; children: ComponentChildren }) => (
  <dl class={own ? `facts ${own}` : 'facts'}>{children}</dl>
);

export const Fact = ({ name, isWide, children }: { name: string; isWide?: boolean; children: ComponentChildren }) => (
  <div class={isWide ? 'whole-row' : undefined}>
    <dt>{name}</dt>
    <dd>{children}</dd>
  </div>
);
