/** The experiments of a period with their conclusions. */
import { conclusionOf, type Experiment, titleOf, unevenness } from '../../data/experiment-figures.ts';
import type { Period } from '../../data/periods.ts';
import { experimentsAddress } from '../../data/router.ts';
import { count } from '../../format.ts';
import { LinkedCard } from './group-card.tsx';

const listed = 3;

interface Props {
  domainId: string;
  period: Period;
  experiments: Experiment[];
}

export const ExperimentCard = ({ domainId, period, experiments }: Props) => (
  <LinkedCard title="Experiments" href={experimentsAddress(domainId, { ...period })}>
    <ul class="stack gap-14">
      {experiments.slice(0, listed).map((experiment) => (
        <li key={experiment.name}>
          <strong>
            <bdi>{titleOf(experiment)}</bdi>
          </strong>
          {[unevenness(experiment) ? 'The variants have unequal shares.' : '', ...conclusionOf(experiment)]
            .filter(Boolean)
            .map((sentence) => (
              <p key={sentence}>{sentence}</p>
            ))}
        </li>
      ))}
    </ul>
    {experiments.length > listed && <p class="hint group-card-foot">and {count(experiments.length - listed)} more</p>}
  </LinkedCard>
);
