package parser

import "testing"

func TestNamesDatabase(t *testing.T) {
	for sql, want := range map[string]bool{
		"CALL customer.p()":                                  true,
		"CALL `Customer` . p()":                              true,
		"CALL p('customer')":                                 false,
		"CALL p('customer.user')":                            false,
		"HANDLER customer OPEN":                              false,
		"HANDLER customer.customer OPEN":                     true,
		"CHECK TABLE customer, customer.user":                true,
		"SELECT main.customer.id FROM main.customer INTO @m": false,
		"SELECT a INTO @m FROM customer /* customer.user */": false,
		"SELECT a INTO @m FROM customer.user":                true,
		"DROP DATABASE IF EXISTS customer":                   true,
		"CREATE SCHEMA `customer`":                           true,
		"SHOW CREATE DATABASE customer":                      true,
		"SHOW TABLES IN customer":                            true,
		"SHOW INDEX FROM t WHERE key_name = 'customer'":      false,
		"EXECUTE IMMEDIATE 'DELETE FROM customer.user'":      true,
		"BEGIN NOT ATOMIC USE customer; DELETE FROM t; END":  true,
		"SET @a = (SELECT COUNT(*) FROM customer.user)":      true,
		"SET @a = 'customer'":                                false,
		"SELECT 'customer":                                   true,
		"SELECT 1":                                           false,
	} {
		if got := NamesDatabase([]byte(sql), Mode{}, "customer"); got != want {
			t.Errorf("%s: %v, want %v", sql, got, want)
		}
	}
}
