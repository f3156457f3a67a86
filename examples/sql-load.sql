create table accounts (id int primary key, balance int not null);
insert into accounts select i, 1000 from generate_series(1, 100) i;
create table transfers (id uuid primary key, source int not null, target int not null, amount int not null);
