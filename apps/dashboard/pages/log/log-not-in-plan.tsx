import type { Organization } from '#libs/contract/statistics';
import { domainAddress } from '../../data/router.ts';

export function LogNotInPlan({ organization, domainId }: { organization: Organization; domainId: string }) {
  return (
    <section class="card message plan-notice">
      <h2>Your plan does not include the log</h2>
      <p>
        The plan “{organization.plan.name}” counts decisions but does not show individual records. Every decision is
        still recorded and kept as proof. With a plan that includes the log, you can read all of them here, including
        earlier ones.
      </p>
      <a class="button primary" href={domainAddress(domainId)}>
        Go to the statistics
      </a>
    </section>
  );
}
