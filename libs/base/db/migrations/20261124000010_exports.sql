-- migrate:up

-- exports are acts as well: with their filters, and with a visitor only where they are of one
alter table visitor_acts add column details jsonb;

-- A cell of a CSV file (RFC 4180). Spreadsheets take a text that begins with = + - @ for a formula, so it gets a ' in
-- front; so does one that begins with ', in order that the ' can be taken off again. An empty text is quoted, since null
-- is nothing.
create function csv_cell(value text) returns text
language sql immutable parallel safe
return case
  when value ~ '^[=+@\t\r''-]' then '"''' || replace(value, '"', '""') || '"'
  when value = '' or value ~ '[",\r\n]' then '"' || replace(value, '"', '""') || '"'
  else value
end;

-- migrate:down

drop function csv_cell;
alter table visitor_acts drop column details;
