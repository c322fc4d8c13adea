/** Where the intervals come from, and what they do not cover. */
export const ExperimentFormulas = () => (
  <>
    <p>
      <strong>95% interval</strong>: Wilson’s score interval of opt-ins among choices. In 19 of 20 experiments such an
      interval holds the true rate.
    </p>
    <p>
      <strong>Difference</strong>: the opt-in rate less that of the first variant, with Newcombe’s interval (method 10),
      made of both Wilson intervals. If it holds 0, the variants may be equally good. A difference is called better or
      worse from 100 choices of each variant on.
    </p>
    <p>
      <strong>Equal shares</strong>: a chi-square test of the variants’ displays, or of their choices where displays are
      not recorded. The service does not know which shares you intended.
    </p>
    <p>
      Decide beforehand how long an experiment runs: an interval is meant for one look, and whoever looks each day until
      one variant is ahead is misled more often than once in 20. The same goes for comparing many variants.
    </p>
  </>
);
