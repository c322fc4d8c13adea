import type { Organization } from '#libs/contract/responses';
import { domainAddress } from '../../data/router.ts';

export function LogNotInPlan({ organization, domainId }: { organization: Organization; domainId: string }) {
  return (
    <section class="card plan-notice">
      <h2>The consent log is not part of your plan</h2>
      <p>
        The plan “{organization.plan.name}” counts decisions but does not show single records. Every decision is still
        recorded and kept as proof: with a plan that has the log, all of them can be read here, earlier ones too.
      </p>
      <a class="button primary" href={domainAddress(domainId)}>
        To the statistics
      </a>
    </section>
  );
}
