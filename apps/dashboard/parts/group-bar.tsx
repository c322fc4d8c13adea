/** How large a group is beside the largest, or which share of it allowed a category. */
import './group-bar.css';

export const GroupBar = ({ share, rest }: { share: number; rest?: number }) => (
  <span class="group-bar" aria-hidden="true">
    <span class={rest === undefined ? 'group-size' : 'back-accept_all'} style={{ width: `${share * 100}%` }} />
    {rest !== undefined && <span class="back-reject_all" style={{ width: `${rest * 100}%` }} />}
  </span>
);
