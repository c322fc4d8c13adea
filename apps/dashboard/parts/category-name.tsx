import { categoryLabel } from '../data/category-names.ts';
import { isolated } from './isolated.tsx';

/** The label that visitors see, and the id in records. */
export function CategoryName({ id }: { id: string }) {
  const label = categoryLabel(id);
  if (label === undefined) return isolated(id);
  return (
    <>
      {label} <code class="muted">{id}</code>
    </>
  );
}
