/**
 * A page of the organization that lists managed things: a button that creates one, the list, and the text of an empty
 * list. A new kind of thing needs texts, a reading and rows.
 */
import type { ComponentChildren } from 'preact';
import type { PageName } from '#libs/base/terms/dashboard-pages';
import type { Reading } from '../data/query.ts';
import { ButtonLink } from './button.tsx';
import { LoadingOrError } from './loading-or-error.tsx';
import { PageHead } from './page-head.tsx';

interface Props<Answer> {
  page: PageName;
  title: string;
  note: ComponentChildren;
  /** absent if they cannot be created here */
  make?: { text: string; href: string };
  /** filters above the list */
  filters?: ComponentChildren;
  reading: Reading<Answer>;
  isEmpty(answer: Answer): boolean;
  /** shown instead of an empty list */
  none: { title: string; text: string };
  /** shown beside the list, even if it is empty */
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
      <LoadingOrError reading={reading} kind="table" />
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
