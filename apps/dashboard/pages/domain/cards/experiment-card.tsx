/** The experiments of a period, each with what may be concluded. */
import { conclusionOf, type Experiment, titleOf, unevenness } from '../../../data/experiments.ts';
import type { Period } from '../../../data/periods.ts';
import { experimentsAddress } from '../../../data/router.ts';
import { count } from '../../../format.ts';

const listed = 3;

interface Props {
  domainId: string;
  period: Period;
  experiments: Experiment[];
}

export const ExperimentCard = ({ domainId, period, experiments }: Props) => (
  <section class="card group-card" aria-label="Experiments">
    <header class="card-head">
      <h2>Experiments</h2>
      <a href={experimentsAddress(domainId, { ...period })}>
        Open<span class="hidden"> experiments</span>
      </a>
    </header>
    <ul class="experiment-list">
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
    {experiments.length > listed && <p class="group-card-foot muted">and {count(experiments.length - listed)} more</p>}
  </section>
);
