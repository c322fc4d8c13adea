/** Breadcrumbs: the way to this page from the overview. */
import './crumbs.css';
import { homeAddress } from '../data/router.ts';
import { escapeInvisible } from '../format.ts';

export interface Crumb {
  name: string;
  /** null: this page */
  address: string | null;
}

export const Crumbs = ({ way }: { way: Crumb[] }) => (
  <nav class="crumbs" aria-label="Breadcrumbs">
    <ol>
      <li>
        <a href={homeAddress}>Overview</a>
      </li>
      {way.map(({ name, address }) => (
        <li key={address} aria-current={address === null ? 'page' : undefined}>
          {address === null ? (
            <bdi>{escapeInvisible(name)}</bdi>
          ) : (
            <a href={address}>
              <bdi>{escapeInvisible(name)}</bdi>
            </a>
          )}
        </li>
      ))}
    </ol>
  </nav>
);
