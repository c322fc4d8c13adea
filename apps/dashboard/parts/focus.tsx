import type { ComponentChildren } from 'preact';
import { useEffect, useRef } from 'preact/hooks';

interface Props {
  id?: string;
  /** takes the focus again when this value changes */
  of?: string;
  children: ComponentChildren;
}

/** A heading that takes the focus on mount, since the element that had it is gone or would keep it. */
export function FocusedTitle({ id, of, children }: Props) {
  const title = useRef<HTMLHeadingElement>(null);
  useEffect(() => title.current?.focus(), [of]);
  return (
    <h2 id={id} ref={title} tabIndex={-1}>
      {children}
    </h2>
  );
}

/** If a change of `is` removes the focused element, focuses the one that `find` returns. Undefined: not known yet. */
export function useFocusAfter(is: boolean | undefined, find: (is: boolean) => HTMLElement | null | undefined): void {
  const before = useRef(is);
  useEffect(() => {
    if (is === undefined) return;
    const isChanged = before.current !== undefined && before.current !== is;
    before.current = is;
    if (isChanged && document.activeElement === document.body) find(is)?.focus();
  }, [is]);
}
