/** One visitor of a domain: what they decided and saw, and their erasure. Every plan has it; the token needs a scope. */
import './visitor.css';
import { useEffect, useState } from 'preact/hooks';
import type { Organization } from '#libs/contract/statistics';
import type { Api, FoundVisitor } from '../../data/api.ts';
import type { Erased } from '../../data/erasing.ts';
import { useReading } from '../../data/reading.ts';
import { navigate, visitorAddress } from '../../data/router.ts';
import { mayReadVisitors } from '../../data/scopes.ts';
import { ErrorCard } from '../../parts/error-card.tsx';
import { NotAllowed } from '../../parts/not-allowed.tsx';
import { PageHead } from '../../parts/page-head.tsx';
import { Skeleton } from '../../parts/skeleton.tsx';
import { FindVisitor } from './find-visitor.tsx';
import { Found } from './found.tsx';
import { Left } from './left.tsx';

interface Props {
  api: Api;
  organization: Organization;
  domainId: string;
  visitorId: string | null;
}

export function Visitor({ api, organization, domainId, visitorId }: Props) {
  const isAllowed = mayReadVisitors(organization);
  const [erased, setErased] = useState<Erased | null>(null);
  useEffect(() => {
    if (visitorId !== null) setErased(null);
  }, [visitorId]);
  // the id is gone from the service, and so it goes from the address and the field
  const onErased = (done: Erased) => {
    setErased(done);
    navigate(visitorAddress(domainId), { replace: true });
  };
  const domainName = organization.domains.find((each) => each.domainId === domainId)?.name ?? domainId;
  return (
    <div class="visitor">
      <PageHead
        title={domainName}
        note="What is stored about one visitor of this domain. Times are UTC."
        domain={{ domainId, page: 'visitor', organization }}
      />
      {!isAllowed && <NotAllowed what="Reading and erasing one visitor" scope="privacy" />}
      {isAllowed && <FindVisitor domainId={domainId} visitorId={visitorId} />}
      {isAllowed && visitorId !== null && (
        <OneVisitor key={visitorId} api={api} domainId={domainId} visitorId={visitorId} onErased={onErased} />
      )}
      {isAllowed && visitorId === null && erased && <Left api={api} erased={erased} />}
    </div>
  );
}

interface OneVisitorProps {
  api: Api;
  domainId: string;
  visitorId: string;
  onErased(erased: Erased): void;
}

function OneVisitor({ api, domainId, visitorId, onErased }: OneVisitorProps) {
  const reading = useReading<FoundVisitor>(JSON.stringify([domainId, visitorId]), (signal) =>
    api.visitor(domainId, visitorId, signal),
  );
  if (reading.error) return <ErrorCard error={reading.error} retry={reading.retry} />;
  if (!reading.value) return <Skeleton kind="table" isSlow={reading.isSlow} />;
  return <Found api={api} domainId={domainId} found={reading.value} onErased={onErased} />;
}
