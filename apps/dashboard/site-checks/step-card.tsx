/** Everything that one step of a check noted. */
import type { CheckStep } from '#libs/widget/site-check';
import { count, counted } from '../format.ts';
import { Fact, Facts } from '../parts/facts.tsx';
import { FramedTable } from '../parts/framed-table.tsx';
import { isolated } from '../parts/isolated.tsx';

const titles: Record<CheckStep['step'], string> = {
  before: 'Before the choice',
  rejected: 'After “Reject all”',
  accepted: 'After “Accept all”',
};

export function StepCard({ step }: { step: CheckStep }) {
  const { hosts, cookies, storage, google, commands, bannerMs } = step;
  const hasGoogle = step.hasContainer || google.length > 0 || /config|event/.test(commands.join());
  const title = titles[step.step];
  return (
    <section class="card stack gap-16" aria-label={title}>
      <header class="card-head">
        <h2>{title}</h2>
        <p class="muted">{counted(step.pages, 'page')}</p>
      </header>
      {hosts.length > 0 && (
        <FramedTable
          label={`Hosts: ${title}`}
          caption={`Hosts: ${title}`}
          rows={hosts}
          keyOf={({ host }) => host}
          columns={[
            { head: 'Host', is: 'name', cell: ({ host }) => isolated(host) },
            { head: 'Owner', cell: ({ known }) => (known ? isolated(known.owner) : 'unknown') },
            { head: 'Kind', cell: ({ known }) => known?.kind ?? '' },
            { head: 'Requests', is: 'number', cell: ({ requests }) => count(requests) },
          ]}
        />
      )}
      {step.moreHosts > 0 && <p class="hint">And {counted(step.moreHosts, 'more host')} with fewer requests.</p>}
      <Facts>
        <Fact name="Cookies" isWide>
          <Names names={cookies.map(({ name, category }) => (category === null ? name : `${name} (${category})`))} />
        </Fact>
        <Fact name="Storage keys" isWide>
          <Names names={storage} />
        </Fact>
        {hasGoogle && (
          <>
            <Fact name="Google’s consent state" isWide>
              <Names names={google.map(({ host, gcs, gcd }) => `${host}: ${gcs}${gcd && ` ${gcd}`}`)} />
            </Fact>
            <Fact name="Order of Google’s commands" isWide>
              <Names names={commands.map((page) => page.join(' → '))} />
            </Fact>
          </>
        )}
        <Fact name="Elements that waited">{count(step.held)}</Fact>
        {bannerMs !== null && <Fact name="Banner shown within">{count(bannerMs)} ms</Fact>}
      </Facts>
      {step.moreNames > 0 && <p class="hint">And {counted(step.moreNames, 'more name')} of cookies and keys.</p>}
    </section>
  );
}

const Names = ({ names }: { names: string[] }) =>
  names.length === 0 ? (
    <>none</>
  ) : (
    <ul class="check-names">
      {names.map((name, at) => (
        <li key={at}>{isolated(name)}</li>
      ))}
    </ul>
  );
