/** The contract's types, which the build writes into the package without the schemas. */
export type { CurrentOfMany } from '#libs/current/contract';
export type { Feed, RecordsPage } from '#libs/log/contract';
export type { FullRecord, Receipt, RecordBody } from '#libs/record/contract';
export type { DomainStats, StatsQuery } from '#libs/stats/contract';
