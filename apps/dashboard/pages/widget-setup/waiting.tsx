/** What helps while no record comes. */
import type { Organization } from '#libs/contract/statistics';
import type { Api } from '../../data/api.ts';
import { mayManage } from '../../data/scopes.ts';
import { Refused } from './refused.tsx';

interface Props {
  api: Api;
  organization: Organization;
  domainId: string;
}

export const Waiting = ({ api, organization, domainId }: Props) => (
  <>
    {mayManage(organization) && <Refused api={api} domainId={domainId} />}
    <div class="widget-causes">
      <p id="widget-causes">Nothing comes? The usual causes:</p>
      <ul aria-labelledby="widget-causes">
        <li>The tag is not in the page that you opened.</li>
        <li>The site’s origin is not on the domain’s list.</li>
        <li>The key in the tag is revoked, or belongs to another domain.</li>
      </ul>
    </div>
  </>
);
