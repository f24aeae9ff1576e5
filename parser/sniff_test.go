package parser

import "testing"

func TestSniff(t *testing.T) {
	tests := []struct {
		sql  string
		want Kind
	}{
		{"", Other},
		{"  \n\t", Other},
		{"/* unclosed", Other},
		{"INSERT INTO t VALUES (1)", Insert},
		{"\n\tinsert/**/into t values (1)", Insert},
		{"/* trace=1 */ -- x\n#y\n insert t values (1)", Insert},
		{"InSeRt", Insert},
		{"insert`t` values (1)", Insert},
		{"insert\xa0into t values (1)", Insert},
		{"inserted", Other},
		{"insert_into", Other},
		{"replace into t values (1)", Replace},
		{"load data infile 'x' into table t", Load},
		{"LOAD /* c */ XML INFILE 'x' INTO TABLE t", Load},
		{"load index into cache t", Other},
		{"load /*!40000 data */ infile 'x' into table t", DynamicSQL},
		{"select 1", Select},
		{"(select 1)", Select},
		{"((select 1) union select 2)", Select},
		{"( /* c */ (select 1))", Select},
		{"select next value from s", Next},
		{"SELECT NEXT VALUE FOR s", Next},
		{"select /* c */ next -- d\n 5 values from s", Next},
		{"select next ? values from s", Next},
		{"select next values from s", Next},
		{"select next 1+1 values from s", Next},
		{"select next value, a from t", Next},
		{"select next from t", Select},
		{"select next, a from t", Select},
		{"select next as value from t", Select},
		{"select next.value from t", Select},
		{"select next", Select},
		{"select next -1 values from s", Select},
		{"select next_value from t", Select},
		{"select nextval(s)", Select},
		{"select `next` value from t", Select},
		{"select next valued from t", Select},
		{"select nEXt VaLuE", Next},
		{"select n", Select},
		{"select/*!40000 1 */", Select},
		{"with x as (select 1) delete from t", With},
		{"update t set a=1", Update},
		{"delete from t", Delete},
		{"set names utf8mb4", Set},
		{"set @a=1", Set},
		{"set statement max_statement_time=1 for insert into t values (1)", DynamicSQL},
		{"set /*!40000 statement */ x", DynamicSQL},
		{"use db", Use},
		{"call p()", Call},
		{"prepare s from 'insert into t values (1)'", Prepare},
		{"execute s", Execute},
		{"execute immediate 'insert into t values (1)'", DynamicSQL},
		{"deallocate prepare s", Deallocate},
		{"drop prepare s", Deallocate},
		{"drop table t", DDL},
		{"create table t(a int)", DDL},
		{"alter table t add b int", DDL},
		{"rename table a to b", DDL},
		{"truncate t", DDL},
		{"kill 5", Kill},
		{"begin", Begin},
		{"begin;", Begin},
		{"begin work", Begin},
		{"begin -- now", Begin},
		{"start transaction", Begin},
		{"start replica", Other},
		{"begin not atomic insert into t values (1); end", DynamicSQL},
		{"begin insert into t values (1); end", DynamicSQL},
		{"commit", Commit},
		{"rollback", Rollback},
		{"show tables", Show},
		{"explain insert into t values (1)", Other},
		{"explain analyze select 1", DynamicSQL},
		{"desc t", Other},
		{"analyze insert into t values (1)", DynamicSQL},
		{"analyze format=json replace into t values (1)", DynamicSQL},
		{"analyze table t", Other},
		{"if 1 then insert into t values (1); end if", DynamicSQL},
		{"l: loop insert into t values (1); end loop", DynamicSQL},
		{"`l`: loop insert into t values (1); end loop", DynamicSQL},
		{"<<l>> loop insert into t values (1); end loop", DynamicSQL},
		{"while 1 do insert into t values (1); end while", DynamicSQL},
		{"/*!40000 insert into t values (1) */", DynamicSQL},
		{"/*M! insert into t values (1) */", DynamicSQL},
		{"/* c */ /*!40000 insert into t values (1) */", DynamicSQL},
		{"\xa0insert into t values (1)", DynamicSQL},
		{"; insert into t values (1)", Other},
		{"do sleep(1)", Other},
		{"values row(1)", Other},
		{"lock tables t write", Other},
		{"a_word_that_is_longer_than_every_keyword", Other},
	}
	for _, test := range tests {
		t.Run(test.sql, func(t *testing.T) {
			if got := Sniff([]byte(test.sql)); got != test.want {
				t.Errorf("Sniff(%q) = %d, want %d", test.sql, got, test.want)
			}
		})
	}
	texts := make([][]byte, len(tests))
	for i, test := range tests {
		texts[i] = []byte(test.sql)
	}
	if n := testing.AllocsPerRun(100, func() {
		for _, text := range texts {
			Sniff(text)
		}
	}); n > 0 {
		t.Errorf("Sniff allocates %v times for %d texts, want none", n, len(texts))
	}
}

func TestSingle(t *testing.T) {
	tests := []struct {
		sql  string
		want bool
	}{
		{"", true},
		{"select 1", true},
		{"select 1;", true},
		{"select 1; ;\n", true},
		{"select 1; select 2", false},
		{"select ';'", false},
		{"select 1; -- c", false},
	}
	for _, test := range tests {
		if got := Single([]byte(test.sql)); got != test.want {
			t.Errorf("Single(%q) = %v, want %v", test.sql, got, test.want)
		}
	}
}
