/** The one table of the usual design, and the names that its API and worker share. */
import type { NewRecord } from '#libs/contract/record';

export interface UsualRecord extends NewRecord {
  organizationId: string;
}

export const usualQueue = { name: 'records', prefix: 'usual' };

export const createUsualTable = `
  create table if not exists usual_records (
    id uuid primary key,
    domain_id text not null,
    organization_id text not null,
    decision text not null,
    received_at timestamptz not null,
    source text not null,
    gpc boolean,
    visitor_id text,
    preferences jsonb,
    banner_version text,
    policy_version text,
    language text,
    page_url text,
    country text,
    ip text,
    user_agent text,
    tc_string text,
    gpp_string text,
    metadata jsonb
  )`;

/** A hash for each domain, or organization, and day or month; its fields are the decisions. */
export const usualCounter = (owner: string, period: string): string => `usual:count:${owner}:${period}`;
