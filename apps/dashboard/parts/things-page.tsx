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
  isEmpty(response: Answer): boolean;
  /** shown instead of an empty list */
  none: { title: string; text: string };
  /** shown beside the list, even if it is empty */
  beside?(response: Answer): ComponentChildren;
  /** the list */
  children(response: Answer): ComponentChildren;
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
  const response = reading.value;
  const hasNone = response !== undefined && isEmpty(response);
  const list =
    response !== undefined &&
    (hasNone ? (
      <section class="card message">
        <h2>{none.title}</h2>
        <p>{none.text}</p>
        {make && <ButtonLink kind="primary" {...make} />}
      </section>
    ) : (
      children(response)
    ));
  return (
    <>
      <PageHead title={title} note={note} tabs={page}>
        {response !== undefined && !hasNone && make && <ButtonLink kind="primary" class="at-end" {...make} />}
      </PageHead>
      {filters}
      <LoadingOrError reading={reading} kind="table" />
      {response !== undefined && beside ? (
        <div class="columns">
          {list}
          {beside(response)}
        </div>
      ) : (
        list
      )}
    </>
  );
}
