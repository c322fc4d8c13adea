/** The body of POST /v1/consent/:domainId/record without the id. */
import type { Decision, sources } from '#libs/base/terms/terms';

export interface Report {
  decision: Decision;
  /** category → allowed */
  preferences?: Record<string, boolean> | undefined;
  source?: (typeof sources)[number] | undefined;
  visitorId?: string | undefined;
  bannerVersion?: string | undefined;
  policyVersion?: string | undefined;
  language?: string | undefined;
  pageUrl?: string | undefined;
  variant?: string | undefined;
  gpc?: boolean | undefined;
  tcString?: string | undefined;
  gppString?: string | undefined;
  metadata?: Record<string, string | number | boolean> | undefined;
}
