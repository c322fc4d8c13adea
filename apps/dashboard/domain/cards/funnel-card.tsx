/** The funnel from a displayed banner to an opt-in. */
import type { Period } from '../../data/periods.ts';
import { groupsAddress } from '../../data/router.ts';
import { count, counted, share } from '../../format.ts';
import { GroupBar } from '../../parts/group-cells.tsx';
import { LinkedCard } from './group-card.tsx';

interface Funnel {
  displays: number;
  /** choices made in the banner */
  answers: number;
  /** opt-ins among these choices */
  optIns: number;
}

interface Props {
  domainId: string;
  period: Period;
  funnel: Funnel;
}

export function FunnelCard({ domainId, period, funnel: { displays, answers, optIns } }: Props) {
  const of = (part: number) => Math.min(1, part / displays);
  return (
    <LinkedCard
      title="From banner to opt-in"
      href={groupsAddress(domainId, 'bannerVersion', { ...period })}
      link="By version"
    >
      <ol class="stack gap-14">
        <FunnelStep name="Shown" value={displays} part={1} note="how often a banner was shown" />
        <FunnelStep
          name="Answered"
          value={answers}
          part={of(answers)}
          note={
            answers > displays
              ? 'more than were shown: some banners were shown before this period, or not reported'
              : `${share(of(answers))} of those shown; ${share(1 - of(answers))} without a choice`
          }
        />
        <FunnelStep
          name="Opted in"
          value={optIns}
          part={of(optIns)}
          note={
            answers === 0
              ? 'no choices yet'
              : `${share(optIns / answers)} of the ${counted(answers, 'choice')} in the banner`
          }
        />
      </ol>
    </LinkedCard>
  );
}

const FunnelStep = ({ name, value, part, note }: { name: string; value: number; part: number; note: string }) => (
  <li class="funnel-step">
    <span>{name}</span>
    <strong class="number">{count(value)}</strong>
    <GroupBar share={part} />
    <p class="hint">{note}</p>
  </li>
);
