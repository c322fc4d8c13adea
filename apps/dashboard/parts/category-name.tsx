import { categoryLabel } from '../data/category-names.ts';
import { isolated } from './isolated.tsx';

/** Its label as visitors see it, and its id as records have it. */
export function CategoryName({ id }: { id: string }) {
  const label = categoryLabel(id);
  if (label === undefined) return isolated(id);
  return (
    <>
      {label} <code class="muted">{id}</code>
    </>
  );
}
