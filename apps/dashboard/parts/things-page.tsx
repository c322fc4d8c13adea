/**
 * A page of the organization with a list of things that one makes, changes and ends: a way to make one, the list, and
 * what stands there before the first. A new kind of thing needs its words, its reading and its rows.
 */
import type { ComponentChildren } from 'preact';
import type { PageName } from '#libs/base/terms/dashboard-pages';
import type { Reading } from '../data/query.ts';
import { ButtonLink } from './button.tsx';
import { PageHead } from './page-head.tsx';
import { Unanswered } from './unanswered.tsx';

interface Props<Answer> {
  page: PageName;
  title: string;
  note: ComponentChildren;
  /** absent where nobody makes one */
  make?: { text: string; href: string };
  /** which of them are listed */
  filters?: ComponentChildren;
  reading: Reading<Answer>;
  isEmpty(answer: Answer): boolean;
  /** instead of an empty list */
  none: { title: string; text: string };
  /** what stands beside the list, and beside an empty one */
  beside?(answer: Answer): ComponentChildren;
  /** the list */
  children(answer: Answer): ComponentChildren;
}

export function ThingsPage<Answer>({
  page,
  title,
  note,
  make,
  filters,
  reading,
  isEmpty,
  none,
  beside,
  children,
}: Props<Answer>) {
  const answer = reading.value;
  const hasNone = answer !== undefined && isEmpty(answer);
  const list =
    answer !== undefined &&
    (hasNone ? (
      <section class="card message">
        <h2>{none.title}</h2>
        <p>{none.text}</p>
        {make && <ButtonLink kind="primary" {...make} />}
      </section>
    ) : (
      children(answer)
    ));
  return (
    <>
      <PageHead title={title} note={note} tabs={page}>
        {answer !== undefined && !hasNone && make && <ButtonLink kind="primary" class="at-end" {...make} />}
      </PageHead>
      {filters}
      <Unanswered reading={reading} kind="table" />
      {answer !== undefined && beside ? (
        <div class="columns">
          {list}
          {beside(answer)}
        </div>
      ) : (
        list
      )}
    </>
  );
}
